import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError, run } from './shell.ts'

/** The emulator, at the version that its departures from AWS are known of. */
const requirement = 'ministack[full]==1.5.33'

/**
 * Installs the emulator into a virtual environment of its own and keeps it for the next time.
 *
 * @param directory Where the environment is kept.
 * @returns The path of the emulator's command.
 * @throws {CommandError} if this machine has no Python, or the package cannot be installed.
 */
export async function installEmulator(directory: string): Promise<string> {
  const bin = join(directory, process.platform === 'win32' ? 'Scripts' : 'bin')
  const marker = join(directory, 'installed')
  const installed = await readFile(marker, 'utf8').catch(() => '')
  if (installed !== requirement) {
    await run('python3', ['-m', 'venv', directory]).catch((error: CommandError) => {
      throw new CommandError(
        `This test needs Python 3 with venv, for the emulator of AWS. Install it (on Debian: apt install python3-venv).\n${error.message}`,
      )
    })
    await run(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', requirement])
    await writeFile(marker, requirement)
  }
  return join(bin, 'ministack')
}
