-- Whether letters may be taken out of a stream that is no dead-letter queue by its name.
-- KEYS[1]: the stream. ARGV[1]: the last of them. Returns 1, or refuses where a group would miss one.
-- @include in_use
return in_use(KEYS[1], ARGV[1]) or 1
