-- Leases and pauses that ended by the earlier of both clocks, and leases that do not decode, to be set
-- aside. Renewals write only to leases, so records of claims that are behind them are corrected here.

-- @include leases
-- @include replies

-- Claims looked at in one call; what is left comes with the next one.
local CLAIMS_MAX = 100

local now = takeNumber()
if take() == 'server' then now = min(now, serverNow()) end
local limit, late = takeNumber(), {}

local function consider(seq, expire)
  if expire <= now then late[#late + 1] = { seq = seq, time = expire } end
end

local function checkClaim(token, recorded)
  local seqs, least = {}, nil
  for seq in gmatch(call('HGET', key('claims:jobs'), token) or '', '%d+') do seqs[#seqs + 1] = seq end
  for i, text in ipairs(fetch('HMGET', 'leases', seqs)) do
    local lease = decodeLease(text)
    if lease == DAMAGED_LEASE then
      consider(seqs[i], recorded)
    elseif lease and lease.token == token then
      least = min(least or lease.expire, lease.expire)
      consider(seqs[i], lease.expire)
    end
  end
  if not least then
    forgetClaim(token)
  elseif least ~= recorded then
    call('ZADD', key('claims:by-end'), least, token)
  end
end

local claims = call('ZRANGEBYSCORE', key('claims:by-end'), '-inf', int(now), 'WITHSCORES',
  'LIMIT', 0, CLAIMS_MAX)
for i = 1, #claims, 2 do checkClaim(claims[i], tonumber(claims[i + 1])) end
local pauses = call('ZRANGEBYSCORE', key('pauses:by-end'), '-inf', int(now), 'WITHSCORES',
  'LIMIT', 0, limit)
for i = 1, #pauses, 2 do consider(pauses[i], tonumber(pauses[i + 1])) end
sort(late, isEarlier)
local seqs = {}
for i = 1, min(limit, #late) do seqs[i] = late[i].seq end
return addJobs({}, seqs)
