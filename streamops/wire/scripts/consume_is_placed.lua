-- Whether the dead letter that a marker names is in the queue.
-- KEYS: the queue, the marker. Returns 1 or 0.
-- @include consume_stands
return stands(KEYS[1], KEYS[2]) and 1 or 0
