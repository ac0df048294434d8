import { readCommandLine, runCommand } from './command.ts'
import { parseContext } from './context.ts'

const HELP = `npm run preflight [-- --stage <stage>] [-c name=value …]

Compares a stage's settings with the AWS account of your credentials: concurrency, stacks, the CDK's bootstrap, certificate, e-mail,
the edge, quotas, roles. Changes nothing. Exits with 1 if something stands in the way of a deployment.

  --stage     name of the stage (dev)
  -c          a setting, as for npm run deploy
  --help      show this help

npm run deploy runs it first.`

const { values } = readCommandLine(HELP, {
  options: { stage: { type: 'string' }, context: { type: 'string', short: 'c', multiple: true } },
})
runCommand(async () => {
  // Loads all declarations of functions, which the help needn't wait for.
  const { preflight } = await import('./preflight/run.ts')
  const passed = await preflight({ ...parseContext(values.context), ...(values.stage && { stage: values.stage }) })
  if (!passed) process.exitCode = 1
})
