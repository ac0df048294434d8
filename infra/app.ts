import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { QUEUES } from '#shared/foundation/queues/index.ts'
import { ConfigError, type Context, readConfig } from './config.ts'
import { createPlatform } from './platform.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Reads the context. The CDK's CLI passes it in, merged from `cdk.json` and `-c`. Without the CLI (`node infra/app.ts -c stage=local`,
 * with `CDK_OUTDIR` for the output), the app reads both itself.
 */
function readContext(): Context {
  if (process.env.CDK_CONTEXT_JSON !== undefined) return JSON.parse(process.env.CDK_CONTEXT_JSON)
  const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8'))
  const { values } = parseArgs({ options: { context: { type: 'string', short: 'c', multiple: true } } })
  const given = (values.context ?? []).map((pair) => [
    pair.slice(0, pair.indexOf('=')),
    pair.slice(pair.indexOf('=') + 1),
  ])
  return { ...context, ...Object.fromEntries(given) }
}

try {
  const config = readConfig(readContext(), process.env)
  // The local run deploys nothing, so it needn't wait a second for CloudFormation's validation rules.
  if (config.stage === 'local') process.env.CDK_VALIDATION ??= 'false'
  const { app } = createPlatform({
    config,
    registry: { requestFunctions, workerFunctions },
    queues: QUEUES,
    // The local run builds its functions together.
    bundles: join(root, 'dist', config.stage === 'local' ? 'local' : 'functions'),
  })
  app.synth()
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
