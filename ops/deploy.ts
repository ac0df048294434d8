import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OperatorError, readCommandLine, runCommand } from './command.ts'
import { parseContext } from './context.ts'

const HELP = `npm run deploy -- [-c name=value …] [--yes] [--skip-preflight] [-- options of cdk deploy]

Checks the account (npm run preflight) and the versions of the packages, then builds and deploys all stacks of a stage.

  -c                a setting (npm run settings), such as -c stage=prod
  --yes             don't ask before changes of permissions, for pipelines
  --skip-preflight  deploy without the checks
  --help            show this help`

const { values, positionals } = readCommandLine(HELP, {
  allowPositionals: true,
  options: {
    context: { type: 'string', short: 'c', multiple: true },
    yes: { type: 'boolean', default: false },
    'skip-preflight': { type: 'boolean', default: false },
  },
})

runCommand(async () => {
  // Loads all declarations of functions, which the help needn't wait for.
  const [{ preflight }, { buildServedPackages }, { refuseChangedPackages }, { readStage }] = await Promise.all([
    import('./preflight/run.ts'),
    import('./packages.ts'),
    import('./packages/served.ts'),
    import('./stage.ts'),
  ])
  const given = values.context ?? []
  if (!values['skip-preflight']) {
    const context = parseContext(given)
    if (!(await preflight(context)))
      throw new OperatorError('Nothing was deployed. Fix the errors, or deploy with --skip-preflight.')
    await refuseChangedPackages(readStage(context), buildServedPackages)
  }
  const cdk = join(fileURLToPath(new URL('..', import.meta.url)), 'node_modules', '.bin', 'cdk')
  const settings = given.flatMap((pair) => ['--context', pair])
  const approval = values.yes ? ['--require-approval', 'never'] : []
  const child = spawn(cdk, ['deploy', '--all', ...settings, ...approval, ...positionals], { stdio: 'inherit' })
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
})
