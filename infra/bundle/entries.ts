import { requestResources, workerFunctions } from '#functions/registry.ts'
import { modulesOf } from '#functions/units.ts'
import { type CallerKind, callersOf } from '#shared/http/callers.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { routeFields } from '#shared/http/route.ts'
import type { Worker } from '#shared/http/worker.ts'
import type { Capability } from '#shared/kernel/capabilities.ts'

/** Value that an entry point passes on under `name`, and the module that exports it. */
interface Part {
  name: string
  exported: string
  module: string
}

const authenticator = (name: CallerKind, exported: string = name): Part => ({
  name,
  exported,
  module: `#shared/http/authenticate/${name}.ts`,
})

const AUTHENTICATORS: Record<Exclude<CallerKind, 'none'>, Part> = {
  client: authenticator('client'),
  integration: authenticator('integration'),
  person: authenticator('person'),
  host: authenticator('host'),
  developer: authenticator('developer'),
  console: authenticator('console', 'consoleUser'),
  admin: authenticator('admin'),
}

const adapter = (name: string, exported: string, module: string): Part => ({
  name,
  exported,
  module: `#shared/adapters/${module}.ts`,
})

const FUNCTIONS = '#functions'

/** Adapters that are bundled only with functions that have the capability. */
const ADAPTERS: Partial<Record<Capability, Part>> = {
  outgoing: adapter('createHttp', 'createOutgoingHttp', 'outgoing-http/client'),
  bot: adapter('createBot', 'createTelegramBot', 'telegram'),
  model: adapter('createModel', 'createLanguageModel', 'language-model'),
  mail: adapter('createMail', 'createMail', 'ses'),
  sockets: adapter('createSockets', 'createSockets', 'sockets'),
  'metrics:read': adapter('createMonitoring', 'createMonitoring', 'monitoring'),
}

/** Sender of messages, for request functions. Workers always have it. */
const QUEUES = adapter('createQueues', 'createQueues', 'queues')

const adaptersFor = (needs: readonly Capability[]): Part[] =>
  [...new Set(needs)].flatMap((capability) => ADAPTERS[capability] ?? [])

const imports = (parts: readonly Part[]): string[] =>
  parts.map(({ exported, module }) => `import { ${exported} } from '${module}'`)

const object = (parts: readonly Part[]): string =>
  `{ ${parts.map(({ name, exported }) => `${name}: ${exported}, `).join('')}`

/** Declares the endpoints of a resource, and imports its module when one of them is called. */
const lazily = ({ path, endpoints }: { path: string; endpoints: Endpoint[] }): string =>
  `...lazyEndpoints(${JSON.stringify(endpoints.map(routeFields))}, () => import('${FUNCTIONS}/${path}.ts')),`

const requestEntry = (resources: { path: string; endpoints: Endpoint[] }[]): string => {
  const endpoints = resources.flatMap((resource) => resource.endpoints)
  const callers = [...new Set(endpoints.flatMap(callersOf))]
  const authenticators = callers.flatMap((caller) => (caller === 'none' ? [] : [AUTHENTICATORS[caller]]))
  const needs = endpoints.flatMap((endpoint) => endpoint.needs)
  const adapters = [...adaptersFor(needs), ...(needs.some((need) => need.startsWith('queue:')) ? [QUEUES] : [])]
  return [
    "import { lazyEndpoints } from '#shared/http/route.ts'",
    "import { serve } from '#shared/http/serve.ts'",
    ...imports([...authenticators, ...adapters]),
    'export const handler = serve([',
    ...resources.map(lazily),
    `], ${object(adapters)}authenticators: ${object(authenticators)}} })`,
  ].join('\n')
}

const workerEntry = (unit: string, workers: Worker[]): string => {
  const modules = modulesOf(unit)
  const adapters = adaptersFor(workers.flatMap(({ needs }) => needs))
  return [
    "import { work } from '#shared/http/worker.ts'",
    ...imports(adapters),
    ...modules.map((path, i) => `import { worker as m${i} } from '${FUNCTIONS}/${path}.ts'`),
    `export const handler = work([${modules.map((_, i) => `m${i}`).join(', ')}], ${object(adapters)}})`,
  ].join('\n')
}

const mapValues = <T>(of: Record<string, T>, make: (value: T, name: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, make(value, name)]))

/**
 * Generates the sources of the entry points, by function. They import the function's workers, or its resources once they are called,
 * and only the authenticators and adapters that these declare, because a cold start reads all that is imported.
 */
export const entries = (): Record<string, string> => ({
  ...mapValues(requestResources, requestEntry),
  ...mapValues(workerFunctions, (workers, unit) => workerEntry(unit, workers)),
})
