import { App, type AppProps, type Environment, Tags } from 'aws-cdk-lib'
import type { QueueDefinition } from '#shared/foundation/queues/index.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import type { Config } from './config.ts'
import { addChecks } from './nag.ts'
import type { Registry } from './plan.ts'
import { DataStack } from './stacks/data.ts'
import { OperationsStack } from './stacks/operations.ts'
import { ServiceStack } from './stacks/service.ts'

export type PlatformProps = {
  config: Config
  registry: Registry
  queues: Record<QueueName, QueueDefinition>
  /** Folder with one bundle per function. */
  bundles: string
  app?: AppProps
}

/** CDK's flag: an update may change or remove what another stack refers to weakly. That stack reads it in its own update. */
const WEAK_REFERENCES = { '@aws-cdk/core:defaultCrossStackReferences': 'weak' }

/** Creates all stacks of one stage: `<prefix>-<stage>-Data`, `-Service` and `-Operations`. */
export function createPlatform({ config, registry, queues, bundles, app: appProps }: PlatformProps) {
  // Synthesizes explicitly, not when the process ends, so that an invalid setting is the only error reported.
  const app = new App({ autoSynth: false, postCliContext: WEAK_REFERENCES, ...appProps })
  // The local run would have to wait for the checks. Every other stage is checked.
  if (config.stage !== 'local') addChecks(app, config)
  const env: Environment | undefined =
    config.edge && config.region !== undefined ? { region: config.region } : undefined
  const props = env === undefined ? {} : { env }
  const data = new DataStack(app, `${config.prefix}-${config.stage}-Data`, config, {
    ...props,
    description: `Data of the platform (stage ${config.stage})`,
  })
  const service = new ServiceStack(app, `${config.prefix}-${config.stage}-Service`, {
    ...props,
    description: `Functions of the platform (stage ${config.stage})`,
    config,
    data,
    registry,
    queues,
    bundles,
  })
  const operations = new OperationsStack(app, `${config.prefix}-${config.stage}-Operations`, {
    ...props,
    description: `Alarms and dashboard of the platform (stage ${config.stage})`,
    config,
    data,
    service,
  })
  for (const [name, value] of Object.entries({ ...config.tags, stage: config.stage })) Tags.of(app).add(name, value)
  return { app, data, service, operations }
}
