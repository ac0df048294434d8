import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Plugin, PluginBuild } from 'esbuild'

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Modules as they are imported, by whom, and what takes their place. */
const replacements: { name: RegExp; importer?: RegExp; by: string }[] = [
  { name: /^@aws-sdk\/credential-provider-node$/, by: beside('environment-credentials.ts') },
  { name: /^@aws-sdk\/middleware-endpoint-discovery$/, by: beside('no-endpoint-discovery.ts') },
  { name: /^@aws-sdk\/signature-v4-multi-region$/, by: beside('one-region-signature.ts') },
  { name: /^@smithy\/core\/event-streams$/, by: beside('no-event-streams.ts') },
  { name: /\/(Sha256|Md5|Crc32)Js$/, importer: /@smithy[\\/]core[\\/].*Node\.js$/, by: beside('native-only.ts') },
  { name: /\/partitions(\.json)?$/, importer: /@aws-sdk[\\/]core[\\/]/, by: beside('plain-endpoint.ts') },
  { name: /\/AdaptiveRetryStrategy$/, importer: /@smithy[\\/]core[\\/]/, by: beside('native-only.ts') },
]

/** The services' names in their addresses, by the client's package. A client that is not here keeps its endpoint rules. */
const services: Record<string, string> = {
  'client-dynamodb': 'dynamodb',
  'client-eventbridge': 'events',
  'client-secrets-manager': 'secretsmanager',
  'client-sqs': 'sqs',
}

/** Errors that carry more than a name and a message, and that the platform reads it from. */
const errorsWithFields = ['ConditionalCheckFailedException', 'TransactionCanceledException']

/**
 * Leaves out of a bundle what the AWS SDK brings along and a Lambda function never reaches. It is half of the SDK's 350 KB, and every byte
 * is read and parsed in every cold start. Each replacement says what it stands for; tests run the four clients as they are bundled.
 */
export const lean: Plugin = {
  name: 'lean',
  setup(build) {
    for (const { name, importer, by } of replacements) {
      build.onResolve({ filter: name }, (args) =>
        importer === undefined || importer.test(args.importer) ? { path: by } : undefined,
      )
    }
    replaceEndpointRules(build)
    markPure(build)
    build.onLoad({ filter: /@aws-sdk[\\/][^\\/]+[\\/]package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8'))
      return { contents: JSON.stringify({ version }), loader: 'json' }
    })
    build.onLoad({ filter: /@aws-sdk[\\/]client-[^\\/]+[\\/]dist-es[\\/]schemas[\\/]\w+\.js$/ }, async ({ path }) => ({
      contents: fewerErrors(literalKeys(await readFile(path, 'utf8'))),
      loader: 'js',
    }))
  },
}

function replaceEndpointRules(build: PluginBuild): void {
  build.onResolve({ filter: /\/endpointResolver$/ }, ({ importer }) => {
    const service = services[/@aws-sdk[\\/](client-[^\\/]+)[\\/]/.exec(importer)?.[1] ?? '']
    return service === undefined ? undefined : { path: service, namespace: 'endpoint' }
  })
  build.onLoad({ filter: /.*/, namespace: 'endpoint' }, ({ path: service }) => ({
    contents: `import { plainEndpoint } from ${JSON.stringify(beside('plain-endpoint.ts'))}
export const defaultEndpointResolver = plainEndpoint(${JSON.stringify(service)})`,
    resolveDir: beside('.'),
  }))
}

/** lib-dynamodb does not say in its package.json that its modules have no side effects; without that, every one of them stays. */
function markPure(build: PluginBuild): void {
  // Marks a question of our own to the resolver, which would otherwise ask us again.
  const asked = Symbol('asked')
  build.onResolve({ filter: /^\.{1,2}\// }, async ({ path, pluginData, ...args }) => {
    if (pluginData === asked || !/@aws-sdk[\\/]lib-dynamodb[\\/]/.test(args.importer)) return undefined
    return { ...(await build.resolve(path, { ...args, pluginData: asked })), sideEffects: false }
  })
}

/**
 * Writes the constants in computed keys literally (`{ [_hH]: 1 }` as `{ "httpHeader": 1 }`). A computed key might call something, so
 * esbuild keeps every schema that has one, of operations that nobody calls too; one with literal keys it can drop.
 */
export function literalKeys(source: string): string {
  const declarations = source.matchAll(/^const (_\w+) = ("[^"\\]*");$/gm)
  const constants = new Map([...declarations].map(([, name, text]) => [name, text]))
  return source.replace(/\[(_\w+)\]:/g, (key, name) => (constants.has(name) ? `${constants.get(name)}:` : key))
}

/**
 * Registers only those errors that carry something. The SDK makes any other one from the service's base exception, with its name and
 * its message, which is what callers and the SDK's own retries look at.
 */
export function fewerErrors(source: string): string {
  return source.replace(/^n0_registry\.registerError\((\w+)\$, \w+\);$/gm, (line, name) =>
    errorsWithFields.includes(name) ? line : '',
  )
}
