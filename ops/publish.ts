import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { OperatorError, readCommandLine, runCommand } from './command.ts'

const HELP = `node ops/publish.ts <folder> …

Publishes built packages to npm, for the release workflow. A package whose version is there with the same bytes is skipped, so that a
release that stopped halfway can be completed by running it again.

  --help  show this help`

const run = promisify(execFile)

/** Returns the integrity of a published version; undefined if there is none. */
const findPublished = async (name: string, version: string): Promise<string | undefined> => {
  try {
    const { stdout } = await run('npm', ['view', `${name}@${version}`, 'dist.integrity'])
    return stdout.trim() || undefined
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string }
    // The package has no version yet.
    if (stderr.includes('E404')) return undefined
    throw new OperatorError(stderr || message)
  }
}

/** Publishes exactly the bytes that were compared. */
const publish = async (folder: string, scratch: string): Promise<void> => {
  const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const { stdout } = await run('npm', ['pack', resolve(folder), '--ignore-scripts', '--pack-destination', scratch])
  const tarball = join(scratch, stdout.trim().split('\n').at(-1) ?? '')
  const integrity = `sha512-${createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64')}`
  const published = await findPublished(name, version)
  if (published === integrity) return console.log(`${name} ${version} is there already`)
  if (published !== undefined) {
    throw new OperatorError(`${name} ${version} is there with other bytes. Raise the version, and release that.`)
  }
  await run('npm', ['publish', tarball, '--provenance', '--ignore-scripts'])
  console.log(`published ${name} ${version}`)
}

runCommand(async () => {
  const { positionals } = readCommandLine(HELP, { allowPositionals: true, options: {} })
  const scratch = await mkdtemp(join(tmpdir(), 'publish-'))
  try {
    for (const folder of positionals) await publish(folder, scratch)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
})
