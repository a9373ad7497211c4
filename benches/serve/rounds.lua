-- Rounds for wrk: rows of 50 features, for predict and decide of any model.
local bodies = {}
math.randomseed(7)
for i = 1, 200 do
  local parts = {}
  for j = 0, 49 do parts[#parts + 1] = string.format('"f%d": %.3f', j, math.random() * 2 - 1) end
  bodies[i] = '{"x": {' .. table.concat(parts, ", ") .. "}}"
end
local at = 0
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
request = function()
  at = at % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[at])
end
