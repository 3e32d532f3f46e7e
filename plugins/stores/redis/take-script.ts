/** Tolerance in tokens: three thirds of a token are a token. */
const ROUNDING = '1e-9';

/**
 * The Lua script of `take`: atomically takes one token from every bucket or from none.
 *
 * Shape: KEYS are the buckets, ARGV their capacity and refill period in milliseconds in turn; the result is 0 when
 * granted, otherwise the longest wait in whole milliseconds. A bucket that is listed twice loses two tokens. A refusal
 * writes nothing; a grant stores each bucket for twice its period.
 *
 * `clock` is a Lua expression for seconds and microseconds. It is the server's clock, so that the clocks of gateways do not
 * matter. Source: vmcp spec §2 rateLimiting.
 */
export const takeScript = (clock = "redis.call('TIME')"): string => `
local clock = ${clock}
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local level, period, wait = {}, {}, 0
for i, key in ipairs(KEYS) do
  local capacity, refill = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local left = level[key]
  if left == nil then
    local kept = redis.call('HMGET', key, 'tokens', 'at')
    left = capacity
    if kept[1] and kept[2] then
      local gained = math.max(0, now - tonumber(kept[2])) / 1000 * capacity / refill
      left = math.min(capacity, tonumber(kept[1]) + gained)
    end
  end
  local missing = 1 - left
  if missing > ${ROUNDING} then
    wait = math.max(wait, 1, math.ceil(missing * refill / capacity - ${ROUNDING}))
  end
  level[key], period[key] = left - 1, refill
end
if wait > 0 then return wait end
for key, left in pairs(level) do
  redis.call('HSET', key, 'tokens', string.format('%.17g', left), 'at', string.format('%.0f', now))
  redis.call('PEXPIRE', key, string.format('%.0f', period[key] * 2))
end
return 0
`;
