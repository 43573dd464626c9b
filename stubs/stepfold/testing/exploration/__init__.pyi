from stepfold.testing.exploration._alphabet import FINAL_REPLY, Alphabet, reply_with
from stepfold.testing.exploration._offers import alphabet_of
from stepfold.testing.exploration._samples import sample_arguments
from stepfold.testing.exploration._search import Exploration, Law, Violation, explore

__all__ = (
    "FINAL_REPLY",
    "Alphabet",
    "Exploration",
    "Law",
    "Violation",
    "alphabet_of",
    "explore",
    "reply_with",
    "sample_arguments",
)
