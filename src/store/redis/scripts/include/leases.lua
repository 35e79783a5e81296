-- One record per claim, not per job: when it ends, its jobs, and how many of them are still held.

-- @include codec

local function beginLeases(token, expire, seqs)
  local held = call('HGET', key('claims:jobs'), token)
  call('ZADD', key('claims:by-end'), held and 'LT' or 'NX', expire, token)
  call('HSET', key('claims:jobs'), token, (held and held .. ',' or '') .. concat(seqs, ','))
  call('HINCRBY', key('claims:open'), token, #seqs)
end

local function forgetClaim(token)
  call('HDEL', key('claims:open'), token)
  call('HDEL', key('claims:jobs'), token)
  call('ZREM', key('claims:by-end'), token)
end

local function endLeases(token, n)
  if call('HINCRBY', key('claims:open'), token, -n) <= 0 then forgetClaim(token) end
end
