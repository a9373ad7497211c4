-- Rounds for wrk: rows of 50 features, or as many as FEATURES says, for predict and decide of any model.
local bodies = {}
local features = tonumber(os.getenv("FEATURES") or 50)
math.randomseed(7)
for i = 1, 200 do
  local parts = {}
  for j = 0, features - 1 do parts[#parts + 1] = string.format('"f%d": %.3f', j, math.random() * 2 - 1) end
  bodies[i] = '{"x": {' .. table.concat(parts, ", ") .. "}}"
end
local at = 0
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
request = function()
  at = at % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[at])
end
