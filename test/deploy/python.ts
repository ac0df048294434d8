import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError, run } from './shell.ts'

/** A Python package that a test runs, and its installation directory. */
export interface PythonPackage {
  /** The package with its exact version: `name==1.2.3`. */
  requirement: string
  /** Reason why the test needs the package; shown when the machine has no Python. */
  purpose: string
  /** Directory of its virtual environment. */
  directory: string
}

/** Installs the emulator, at the version whose differences from AWS are known. */
export const installEmulator = async (directory: string): Promise<string> => {
  const requirement = 'ministack[full]==1.5.33'
  return join(await installPackage({ requirement, purpose: 'the AWS emulator', directory }), 'ministack')
}

/**
 * Installs a package into its own virtual environment and reuses it next time.
 * @returns The directory of the environment's commands.
 * @throws {CommandError} if this machine has no Python, or the package can't be installed.
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
