-- Due and waiting → running; see include/claims.lua.

-- @include claims

return claimJobs()
