-- Jobs by their ids.

-- @include replies

local seqs = {}
for _, seq in ipairs(fetch('HMGET', 'ids', ARGV)) do
  if seq then seqs[#seqs + 1] = seq end
end
return addJobs({}, seqs)
