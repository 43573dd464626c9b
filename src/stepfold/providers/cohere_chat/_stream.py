"""The events of a streamed reply of Cohere.

Rules that are ours to keep, beside those of `EventDecoder`:

* A stream is whole if `message-end` came, with a reason.
* The same `message-start` again is ignored; another one is an error, and so is what is said of
  content or a call that is not open.
* A call is complete when it ends, at the latest with the message.
"""

from stepfold.providers._events import EventStream
from stepfold.providers.cohere_chat._reply import ReplyReader

cohere_decoder: EventStream = EventStream(ReplyReader)
"""Makes the decoder of one streamed reply."""
