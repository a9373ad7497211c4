"use strict";
const element = (name, text, parent) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
};
const shown = (value, digits = 4) => typeof value === "number"
  ? (Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(digits)) : "–";
const headers = () => {
  const key = sessionStorage.getItem("key");
  return key ? { authorization: "Bearer " + key } : {};
};
const ask = async (path, options = {}) => {
  const answer = await fetch(path, { ...options, headers: { ...headers(), ...options.headers } });
  if (answer.status === 401) document.getElementById("keyed").hidden = false;
  if (!answer.ok) throw new Error((await answer.json()).detail);
  return answer;
};
document.getElementById("keyed").addEventListener("submit", event => {
  event.preventDefault();
  sessionStorage.setItem("key", document.getElementById("key").value);
  refresh();
});

