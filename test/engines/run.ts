import { spawn, spawnSync } from 'node:child_process'
import { readCommandLine } from '#ops/command.ts'

const HELP = `npm run test:engines

Walks through every screen of the console, the developer portal and the admins' page in Firefox, with axe. Without Firefox it says
so and ends.

  FIREFOX  name or path of the program (firefox)`

readCommandLine(HELP, {})

const { FIREFOX = 'firefox' } = process.env
if (spawnSync(FIREFOX, ['--version']).status === 0) {
  const env = { ...process.env, FIREFOX, ENGINE_TESTS: '1' }
  const child = spawn('vitest', ['run', '--project', 'whole', 'test/engines'], { stdio: 'inherit', env })
  child.once('close', (code) => {
    process.exitCode = code ?? 1
  })
} else {
  console.log(
    `Skipped: ${FIREFOX} isn’t installed (on Debian: apt install firefox-esr). FIREFOX names another program.`,
  )
}
