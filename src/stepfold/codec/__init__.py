"""Values as JSON that is kept: canonical bytes with a version, read back or refused with a path.

The format, version 1:

* A document is UTF-8 JSON without white space, `{"v":1,"type":…}`. Only a document carries `v`.
* A value of a class is an object. `type` comes first, then its fields as they are declared;
  `reply` begins `content`, `usage`, `finish_reason`, `warnings`. A class that is a member of a
  union says its `type` everywhere; a record that is none (`usage`, `finish_reason`) says it only
  as a whole document. Tags are in a table and never made from the names of classes.
* A field at its default is left out and filled in when read: the defaults are part of the
  format. Always written are those four of a reply, `raw` of a finish reason, and `rules` of the
  header of a journal.
* Fields that are not compared are derived from the others and not written.
* `JsonText` is a string of its text. Bytes are base64, standard alphabet, padded. Tuples are
  arrays, also pairs. Integers are exact. Numbers have the shortest form, zero no sign; those
  that are not finite are the strings `NaN`, `Infinity` and `-Infinity`.
* A string with a lone surrogate, which has no UTF-8 form, is written as
  `{"type":"wtf-8","base64":…}` and comes back as it was.

Reading is strict: unknown and missing keys, unknown tags, other types (`true` is no integer,
`1.0` is none either), bad base64 and other versions are a `DecodeFault` with a JSON pointer.
"""

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
