import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { environmentOf, removingEnvironments } from './environment.ts'

const run = promisify(execFile)
removingEnvironments()

/** Every version that the package promises and this machine has. */
const versions = [10, 11, 12, 13, 14, 15, 16]
  .map((minor) => `python3.${minor}`)
  .filter((name) => spawnSync(name, ['-c', 'import venv']).status === 0)

const SERVED = [
  'fastapi',
  'starlette',
  'asgi',
  'flask',
  'flask, body read before',
  'wsgi',
  'django, wsgi',
  'django, asgi',
]

describe.each(versions)('on %s', (interpreter) => {
  it('agents answer with each framework, and fail with what can’t be sent; a silent server ends a call', async () => {
    const { python, pip } = await environmentOf(interpreter, [], interpreter)
    // The newest of each framework that supports this version.
    await pip('install', path.join(ROOT, 'packages/sdk-py'), 'fastapi', 'flask', 'django')
    const { stdout } = await run(python, [path.join(ROOT, 'test/python/runtime.py')])
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([...SERVED.map((name) => [name, [200, 401, 413], ['agent_invalid_response']]), ['time limit', [], []]])
  })
})
