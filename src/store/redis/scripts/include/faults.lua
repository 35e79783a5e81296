-- What no script leaves behind: a job that is not where claims look, or is there although it does
-- not wait; a lease without the record it ends by; a job in the wrong list.

-- @include jobs

-- Where claims would find it, and whether they should.
local function placeFault(seq, h, lease)
  local isTimed = call('ZSCORE', key(timedKey(h.route)), seq)
  local isReady = call('ZSCORE', key(laneKey(h.route, h.lane)), seq)
  local isDue = not lease and h.state == WAITING and h.due
  if isDue and not isTimed and not isReady then return 'unplaced' end
  if not isDue and (isTimed or isReady) or isTimed and isReady then return 'misplaced' end
  local isPaused = not lease and h.state == PAUSED and h.pausedUntil
  if isPaused and not call('ZSCORE', key('pauses:by-end'), seq) then return 'unplaced' end
end

local function isRecorded(seq, token)
  local held = call('HGET', key('claims:jobs'), token)
  if not held or not call('ZSCORE', key('claims:by-end'), token) then return false end
  return find(',' .. held .. ',', ',' .. seq .. ',', 1, true) ~= nil
end

-- Every list the job could be in, and whether it should be. While it runs for the first time it may
-- be in the list of the unstarted ones or of the live ones.
local function eachList(h, visit)
  local own = h.kind == 0 and statusOf(h)
  for _, status in ipairs(STATUSES) do
    visit(key(statusKey(status)), status == own)
    visit(key(tenantStatusKey(status, h.tenant)), status == own)
  end
end

local function isListed(seq, h)
  local isRight = true
  eachList(h, function(name, isIn)
    if (call('ZSCORE', name, seq) ~= false) ~= isIn then isRight = false end
  end)
  return isRight
end
