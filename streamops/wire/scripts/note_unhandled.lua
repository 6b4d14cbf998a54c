-- Notes entries down that were deleted before they were handled, so that their business keys are free.
-- KEYS[1]: the unhandled ones. ARGV: the fields of their marks.
-- Returns how many.
-- @include unhandled
note_unhandled(KEYS[1], ARGV)
return #ARGV
