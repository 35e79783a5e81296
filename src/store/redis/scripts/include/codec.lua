-- The codec of stored texts; row.ts is its other half. A text begins with one line of JSON for
-- scripts. What is behind that line is for the client alone.

-- @include base

local WAITING, RUNNING, PAUSED = 0, 1, 2

local function decodeLine(text, width)
  local isRead, list = pcall(cjson.decode, match(text or '', '^[^\n]*'))
  return isRead and type(list) == 'table' and #list == width and list or nil
end

-- What a damaged row counts as: a failed job of nobody, that is in no index.
local DAMAGED = {
  fence = 0, state = 4, kind = 0, tenant = '', queue = '', handler = '', lane = '', route = NUL,
  due = false, rank = false, pausedUntil = false, expire = false, attempts = 0, keep = 0,
  isUnstarted = false, id = '', series = false, app = false,
}

local function isSoundRow(f)
  return type(f[1]) == 'number' and type(f[2]) == 'number' and type(f[3]) == 'number'
    and type(f[4]) == 'number' and type(f[5]) == 'string' and type(f[6]) == 'string'
    and type(f[7]) == 'string' and type(f[8]) == 'string' and type(f[13]) == 'number'
    and type(f[14]) == 'number' and type(f[16]) == 'string'
end

local function decodeRow(row)
  local f = decodeLine(row, 18)
  if not f or not isSoundRow(f) then return DAMAGED end
  return {
    version = f[1], fence = f[2], state = f[3], kind = f[4], tenant = f[5], queue = f[6],
    handler = f[7], lane = f[8], due = f[9], rank = f[10], pausedUntil = f[11], expire = f[12],
    attempts = f[13], keep = f[14], isUnstarted = f[15], id = f[16], series = f[17], app = f[18],
    route = f[6] .. NUL .. f[7],
  }
end

-- What a damaged lease counts as: one that nobody holds any more.
local DAMAGED_LEASE = {
  version = -1, token = '', isClaim = false, attempt = '', owner = '', claimedAt = 0, expire = 0,
}

-- isClaim: the row is still as it was before the claim.
local function decodeLease(text)
  if not text then return nil end
  local f = decodeLine(text, 7)
  local isSound = f and type(f[1]) == 'number' and type(f[2]) == 'string' and type(f[7]) == 'number'
  if not isSound then return DAMAGED_LEASE end
  return {
    version = f[1], token = f[2], isClaim = f[3], attempt = f[4], owner = f[5], claimedAt = f[6],
    expire = f[7],
  }
end

local function storedRow(seq) return decodeRow(call('HGET', key('jobs'), seq)) end
local function storedLease(seq) return decodeLease(call('HGET', key('leases'), seq)) end

local function encodeLease(l)
  return cjson.encode({ l.version, l.token, l.isClaim, l.attempt, l.owner, l.claimedAt, l.expire })
end

-- Leases of one claim, which differ in versions and in attempts, given as JSON.
local function leaseEncoder(l)
  local front, back = cjson.encode({ l.token, true }), cjson.encode({ l.owner, l.claimedAt, l.expire })
  local middle, tail = ',' .. sub(front, 2, -2) .. ',', ',' .. sub(back, 2)
  return function(version, attempt) return '[' .. version .. middle .. attempt .. tail end
end

local function decodeAttempt(text)
  local f = decodeLine(text, 4)
  return f and { number = f[1], id = f[2], finishedAt = f[3], expire = f[4] }
end

local function decodeRecord(text)
  local f = decodeLine(text, 2)
  return f and { version = f[1], expire = f[2], json = sub(text, find(text, '\n', 1, true) + 1) }
end

-- The fields of a record's value; none if it is anything but an object.
local function fieldsOf(record)
  local isRead, value = pcall(cjson.decode, record.json)
  return isRead and type(value) == 'table' and value or {}
end

-- Every attempt that was claimed has a number, also the running one whose row is from before.
local function attemptsOf(h, lease)
  return lease and lease.isClaim and h.attempts + 1 or h.attempts
end
