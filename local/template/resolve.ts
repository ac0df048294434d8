import type { RawResource, Stack } from './assembly.ts'
import { ACCOUNT, type Addresses, attributeOf, physicalName, REGION, refOf } from './physical.ts'

/** Marks `AWS::NoValue`: the property counts as absent. */
const NO_VALUE = Symbol('AWS::NoValue')

type Json = Record<string, unknown>

/** Resolves the intrinsic functions of one assembly's templates. */
export interface Resolver {
  /** Returns any value of that stack's template with everything in it resolved. */
  resolve(stack: Stack, value: unknown): unknown
  /** Returns a resource's resolved properties. */
  properties(stack: Stack, id: string): Json
  /** Returns the resource's local name. */
  nameOf(stack: Stack, id: string): string
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Creates an evaluator of CloudFormation's intrinsic functions over all stacks at once, so that imports find their
 * exports.
 *
 * @throws Error naming the stack and the reference, if the referenced thing does not exist
 */
export const createResolver = (stacks: Stack[], addresses: Addresses): Resolver => {
  const names = new Map<string, string>()

  const resourceOf = (stack: Stack, id: string): RawResource => {
    const resource = stack.resources[id]
    if (!resource) throw new Error(`${stack.name}: unknown resource ${id}`)
    return resource
  }

  const nameOf = (stack: Stack, id: string): string => {
    const key = `${stack.name}/${id}`
    const known = names.get(key)
    if (known) return known
    const name = physicalName(stack.name, id, resourceOf(stack, id), (value) => resolve(stack, value))
    names.set(key, name)
    return name
  }

  const ref = (stack: Stack, id: string): unknown => {
    const pseudo: Record<string, unknown> = {
      'AWS::Partition': 'aws',
      'AWS::Region': REGION,
      'AWS::AccountId': ACCOUNT,
      'AWS::URLSuffix': 'amazonaws.com',
      'AWS::StackName': stack.name,
      'AWS::StackId': `arn:aws:cloudformation:${REGION}:${ACCOUNT}:stack/${stack.name}/local`,
      'AWS::NoValue': NO_VALUE,
      'AWS::NotificationARNs': [],
    }
    if (id in pseudo) return pseudo[id]
    const { around } = stack
    if (around && id in around.parameters) return resolve(around.stack, around.parameters[id])
    const parameter = stack.parameters[id]
    if (parameter) return parameter.Default ?? ''
    const resource = resourceOf(stack, id)
    return refOf(resource.Type, nameOf(stack, id), resolve(stack, resource.Properties?.StageName), addresses)
  }

  const attribute = (stack: Stack, id: string, name: string) =>
    attributeOf(resourceOf(stack, id).Type, nameOf(stack, id), name)

  const substitute = (stack: Stack, argument: unknown) => {
    const [text, given] = Array.isArray(argument) ? (argument as [string, Json]) : [String(argument), {} as Json]
    return text.replace(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal) return `\${${name}}`
      if (name in given) return String(resolve(stack, given[name]))
      const dot = name.indexOf('.')
      return dot < 0 ? String(ref(stack, name)) : attribute(stack, name.slice(0, dot), name.slice(dot + 1))
    })
  }

  const importValue = (stack: Stack, name: unknown) => {
    for (const other of stacks) {
      for (const exported of other.exports) {
        if (resolve(other, exported.name) === name) return resolve(other, exported.value)
      }
    }
    throw new Error(`${stack.name}: no stack exports ${String(name)}`)
  }

  const outputOf = (stack: Stack, { StackName, OutputName }: Json) => {
    const other = stacks.find(({ name }) => name === StackName)
    if (!other || !(String(OutputName) in other.outputs))
      throw new Error(`${stack.name}: the stack ${String(StackName)} has no output ${String(OutputName)}`)
    return resolve(other, other.outputs[String(OutputName)])
  }

  const condition = (stack: Stack, name: string): boolean => resolve(stack, stack.conditions[name]) === true

  const call = (stack: Stack, name: string, argument: unknown): unknown => {
    const list = () => resolve(stack, argument) as unknown[]
    switch (name) {
      case 'Ref':
        return ref(stack, argument as string)
      case 'Condition':
        return condition(stack, argument as string)
      case 'Fn::GetAtt': {
        const [id, ...rest] = typeof argument === 'string' ? argument.split('.') : (argument as string[])
        return attribute(stack, id ?? '', rest.join('.'))
      }
      case 'Fn::Sub':
        return substitute(stack, argument)
      case 'Fn::Join': {
        const [separator, parts] = list() as [string, unknown[]]
        return parts.join(separator)
      }
      case 'Fn::Split': {
        const [separator, text] = list() as [string, string]
        return text.split(separator)
      }
      case 'Fn::Select': {
        const [index, values] = list() as [number | string, unknown[]]
        return values[Number(index)]
      }
      case 'Fn::ImportValue':
        return importValue(stack, resolve(stack, argument))
      case 'Fn::GetStackOutput':
        return outputOf(stack, resolve(stack, argument) as Json)
      case 'Fn::If': {
        const [test, yes, no] = argument as [string, unknown, unknown]
        return resolve(stack, condition(stack, test) ? yes : no)
      }
      case 'Fn::Equals':
        return list()[0] === list()[1]
      case 'Fn::Not':
        return list()[0] !== true
      case 'Fn::And':
        return list().every((value) => value === true)
      case 'Fn::Or':
        return list().some((value) => value === true)
      case 'Fn::FindInMap': {
        const [map, key, field] = list() as [string, string, string]
        return stack.mappings[map]?.[key]?.[field]
      }
      case 'Fn::GetAZs':
        return [`${REGION}a`, `${REGION}b`]
      case 'Fn::Base64':
        return Buffer.from(String(resolve(stack, argument))).toString('base64')
      default:
        throw new Error(`${stack.name}: the local run does not support ${name}`)
    }
  }

  const resolve = (stack: Stack, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((item) => resolve(stack, item)).filter((item) => item !== NO_VALUE)
    if (!isObject(value)) return value
    const entries = Object.entries(value)
    const [only] = entries
    if (only && entries.length === 1 && (only[0] === 'Ref' || only[0].startsWith('Fn::') || only[0] === 'Condition')) {
      // A policy statement's `Condition` block is an object. CloudFormation's intrinsic `Condition` is a name.
      if (only[0] !== 'Condition' || typeof only[1] === 'string') return call(stack, only[0], only[1])
    }
    return Object.fromEntries(
      entries.map(([key, item]) => [key, resolve(stack, item)] as const).filter(([, item]) => item !== NO_VALUE),
    )
  }

  return {
    resolve,
    nameOf,
    properties: (stack, id) => resolve(stack, resourceOf(stack, id).Properties ?? {}) as Json,
  }
}
