import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll } from 'vitest'
import { scratchFolder } from '#testkit/scratch.ts'

const run = promisify(execFile)
const removals: (() => void)[] = []

/** Creates an empty virtual environment with these packages. It is removed after the file's tests. */
export const environmentOf = async (name: string, packages: readonly string[] = [], interpreter = 'python3') => {
  const { folder, remove } = scratchFolder(`python-${name}-`)
  removals.push(remove)
  await run(interpreter, ['-m', 'venv', path.join(folder, 'venv')])
  const python = path.join(folder, 'venv/bin/python')
  const pip = (...args: string[]) => run(python, ['-m', 'pip', '--quiet', '--disable-pip-version-check', ...args])
  if (packages.length > 0) await pip('install', ...packages)
  return { folder, python, pip }
}

/** Registers the removal of a file's environments. */
export const removingEnvironments = (): void => {
  afterAll(() => {
    for (const remove of removals.splice(0)) remove()
  })
}
