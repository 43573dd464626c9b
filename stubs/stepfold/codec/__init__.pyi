from stepfold.codec._document import (
    CURRENT_VERSION,
    DOCUMENT_BOUNDS,
    MIGRATIONS,
    Migration,
    decode,
    encode,
    encode_part,
    from_json,
    migrate,
    to_json,
)
from stepfold.codec._encode import JsonTree
from stepfold.codec._faults import DecodeFault, StoredDataError

__all__ = (
    "CURRENT_VERSION",
    "DOCUMENT_BOUNDS",
    "MIGRATIONS",
    "DecodeFault",
    "JsonTree",
    "Migration",
    "StoredDataError",
    "decode",
    "encode",
    "encode_part",
    "from_json",
    "migrate",
    "to_json",
)
