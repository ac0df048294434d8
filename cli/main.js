#!/usr/bin/env node
// Starts the tool with the repository's own Node.js, because the system's version may not run TypeScript.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const executable = process.platform === 'win32' ? 'node.exe' : 'node'
const node = fileURLToPath(new URL(`../node_modules/node/bin/${executable}`, import.meta.url))

if (!existsSync(node)) {
  console.error('The repository’s packages aren’t installed. Run: npm ci')
  process.exit(2)
}

const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
  process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  console.error(`The tool couldn’t be started: ${error.message}`)
  process.exit(2)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)))
