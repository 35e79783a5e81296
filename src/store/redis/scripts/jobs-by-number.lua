-- Jobs by their numbers.

-- @include replies

return addJobs({}, ARGV)
