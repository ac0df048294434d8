// MiniStack's worker looks for a handler in index.js and index.mjs; Lambda finds index.cjs too, and that is what is deployed.
const { _extensions: extensions } = require('node:module')
extensions['.cjs'] ??= extensions['.js']
