// MiniStack's worker looks for a handler in index.js and index.mjs. Lambda also finds index.cjs, which is what is
// deployed.
const { _extensions: extensions } = require('node:module')
extensions['.cjs'] ??= extensions['.js']
