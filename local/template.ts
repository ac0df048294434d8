import { existsSync } from 'node:fs'
import path from 'node:path'
import { readAlarms } from './template/alarms.ts'
import { type Resolved, readApi } from './template/api.ts'
import { readAssembly, type Stack } from './template/assembly.ts'
import { readRules, readSchedules, readSources } from './template/events.ts'
import { number, object, required, text } from './template/fields.ts'
import type { FunctionModel, LocalModel } from './template/model.ts'
import { type Addresses, arnOf } from './template/physical.ts'
import { createResolver } from './template/resolve.ts'
import { readSockets } from './template/sockets.ts'
import { readBuckets, readQueues, readSecrets, readTables } from './template/storage.ts'

export type * from './template/model.ts'

const KINDS =
  /^AWS::(DynamoDB::(Table|GlobalTable)|SQS::Queue|S3::Bucket|SecretsManager::Secret|CloudWatch::(Alarm|CompositeAlarm)|Lambda::(Function|EventSourceMapping)|Events::(Rule|EventBus)|Scheduler::Schedule|ApiGateway::(RestApi|Resource|Method|Stage|GatewayResponse)|ApiGatewayV2::(Api|Route|Integration|Stage))$/

/** Returns the folder of a function's code, from the asset's metadata or else from the asset manifest. */
const codeFolder = (stack: Stack, resource: Resolved, assembly: string): string => {
  const hash = text(object(resource.properties.Code).S3Key)?.replace(/^.*\/|\.zip$/g, '')
  const given = text(resource.metadata['aws:asset:path'])
  const folder = given ? path.resolve(assembly, given) : stack.assets.get(hash ?? '')
  return required(folder, `the asset of function ${resource.logicalId}`)
}

/**
 * Returns the folder to run a function from. A staged asset is a copy under the assembly. A rebuild changes the
 * original bundle, which the template names in the metadata `function`.
 */
const bundleFolder = (stack: Stack, resource: Resolved, { cdkOut, bundles }: ReadOptions): string => {
  const named = bundles && path.join(bundles, text(resource.metadata.function) ?? '')
  if (named && resource.metadata.function && existsSync(path.join(named, 'index.cjs'))) return named
  return codeFolder(stack, resource, cdkOut)
}

const functionOf = (stack: Stack, resource: Resolved, options: ReadOptions): FunctionModel => {
  const { logicalId, name, properties } = resource
  const directory = bundleFolder(stack, resource, options)
  const folder = path.basename(path.dirname(directory)) === 'functions' ? path.basename(directory) : undefined
  return {
    name: text(resource.metadata.function) ?? folder ?? logicalId,
    logicalId,
    functionName: name,
    arn: arnOf('AWS::Lambda::Function', name),
    directory,
    handler: text(properties.Handler) ?? 'index.handler',
    environment: Object.fromEntries(
      Object.entries(object(object(properties.Environment).Variables)).map(([key, value]) => [key, String(value)]),
    ),
    timeoutSeconds: number(properties.Timeout) ?? 3,
    memoryMb: number(properties.MemorySize) ?? 128,
  }
}

/** Folders to read from. */
export interface ReadOptions {
  /** Folder of the synthesized cloud assembly. */
  cdkOut: string
  addresses: Addresses
  /** Folder of the built bundles (`dist/functions`), which run instead of the staged copies. */
  bundles?: string | undefined
}

/**
 * Reads the synthesized templates and returns everything to run: functions, routes, tables, queues, rules, sources.
 * Follows references across stacks and assumes nothing about names.
 *
 * @throws Error when there is no template, or it uses something that the local run does not support
 */
export const readTemplate = (options: ReadOptions): LocalModel => {
  const stacks = readAssembly(options.cdkOut)
  const resolver = createResolver(stacks, options.addresses)
  const functions: FunctionModel[] = []
  const resources: Resolved[] = []
  for (const stack of stacks) {
    for (const [logicalId, raw] of Object.entries(stack.resources)) {
      if (!KINDS.test(raw.Type)) continue
      if (raw.Condition && resolver.resolve(stack, { Condition: raw.Condition }) !== true) continue
      const resource: Resolved = {
        stack: stack.name,
        logicalId,
        type: raw.Type,
        name: resolver.nameOf(stack, logicalId),
        properties: resolver.properties(stack, logicalId),
        metadata: raw.Metadata ?? {},
      }
      resources.push(resource)
      if (raw.Type === 'AWS::Lambda::Function') functions.push(functionOf(stack, resource, options))
    }
  }
  const sources = readSources(resources, (name) => arnOf('AWS::Lambda::Function', name))
  return {
    functions,
    api: readApi(resources),
    sockets: readSockets(resources),
    tables: readTables(resources),
    queues: readQueues(resources),
    buses: ['default', ...resources.filter(({ type }) => type === 'AWS::Events::EventBus').map(({ name }) => name)],
    rules: readRules(resources),
    schedules: readSchedules(resources),
    secrets: readSecrets(resources),
    buckets: readBuckets(resources),
    streamSources: sources.streams,
    queueSources: sources.queues,
    alarms: readAlarms(resources),
  }
}
