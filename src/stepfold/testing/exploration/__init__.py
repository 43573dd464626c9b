"""Bounded exhaustive model checking of a program: every order of everything that can happen.

`explore` goes through each state that a run can reach, where an `Alphabet` says what may come of
each command and from outside, and checks every law in each. What it finds comes with a shortest
path. It is exhaustive, or says which bound it has hit.
"""

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
