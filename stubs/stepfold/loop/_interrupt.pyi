CALL_LOST = "interrupted: the process ended while this call ran; it may or may not have run"
