import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError, run } from './shell.ts'

/** A package of Python that a test runs, and where it is kept. */
export interface PythonPackage {
  /** With its exact version: `name==1.2.3`. */
  requirement: string
  /** What it is to the test, in a sentence about a machine without Python. */
  purpose: string
  /** Its virtual environment's own folder. */
  directory: string
}

/** The emulator, at the version that its departures from AWS are known of. */
export const installEmulator = async (directory: string): Promise<string> => {
  const requirement = 'ministack[full]==1.5.33'
  return join(await installPackage({ requirement, purpose: 'the emulator of AWS', directory }), 'ministack')
}

/**
 * Installs a package into a virtual environment of its own and keeps it for the next time.
 *
 * @returns The folder of the environment's commands.
 * @throws {CommandError} if this machine has no Python, or the package cannot be installed.
 */
export async function installPackage({ requirement, purpose, directory }: PythonPackage): Promise<string> {
  const bin = join(directory, process.platform === 'win32' ? 'Scripts' : 'bin')
  const marker = join(directory, 'installed')
  const installed = await readFile(marker, 'utf8').catch(() => '')
  if (installed === requirement) return bin
  await run('python3', ['-m', 'venv', directory]).catch((error: CommandError) => {
    throw new CommandError(
      `This test needs Python 3 with venv, for ${purpose}. Install it (on Debian: apt install python3-venv).\n${error.message}`,
    )
  })
  await run(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', requirement])
  await writeFile(marker, requirement)
  return bin
}
