import { App, type AppProps, type Environment, Tags } from 'aws-cdk-lib'
import type { QueueDefinition } from '#shared/events/queues.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import type { Config } from './config.ts'
import { addChecks } from './nag.ts'
import type { Registry } from './plan.ts'
import { DataStack } from './stacks/data.ts'
import { OperationsStack } from './stacks/operations.ts'
import { RoutesStack } from './stacks/routes.ts'
import { ServiceStack } from './stacks/service.ts'

export type PlatformProps = {
  config: Config
  registry: Registry
  queues: Record<QueueName, QueueDefinition>
  /** The folder with one bundle for each function. */
  bundles: string
  app?: AppProps
}

/** The whole platform of one stage: `<prefix>-<stage>-Data`, `-Service`, `-Routes` and `-Operations`. */
export function createPlatform({ config, registry, queues, bundles, app: appProps }: PlatformProps) {
  // Synthesized when it is whole, not when the process ends: a setting that is wrong must be all that is told.
  const app = new App({ autoSynth: false, ...appProps })
  // The local run waits for this; what is deployed anywhere is checked.
  if (config.stage !== 'local') addChecks(app)
  const env: Environment | undefined =
    config.edge && config.region !== undefined ? { region: config.region } : undefined
  const props = env === undefined ? {} : { env }
  const data = new DataStack(app, `${config.prefix}-${config.stage}-Data`, config, {
    ...props,
    description: `What the platform keeps (stage ${config.stage})`,
  })
  const service = new ServiceStack(app, `${config.prefix}-${config.stage}-Service`, {
    ...props,
    description: `What the platform does (stage ${config.stage})`,
    config,
    data,
    registry,
    queues,
    bundles,
  })
  const routes = new RoutesStack(app, `${config.prefix}-${config.stage}-Routes`, {
    ...props,
    description: `The ways to what the platform does (stage ${config.stage})`,
    config,
    service,
    registry,
  })
  const operations = new OperationsStack(app, `${config.prefix}-${config.stage}-Operations`, {
    ...props,
    description: `What watches the platform (stage ${config.stage})`,
    config,
    data,
    service,
  })
  for (const [name, value] of Object.entries({ ...config.tags, stage: config.stage })) Tags.of(app).add(name, value)
  return { app, data, service, routes, operations }
}
