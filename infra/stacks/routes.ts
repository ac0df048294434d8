import { Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { addRoutes, addStage, guard, importApi, letIn, mapDomain } from '../api.ts'
import type { Config } from '../config.ts'
import { addGatewayErrors } from '../gateway-errors.ts'
import type { Registry } from '../plan.ts'
import { planRoutes } from '../routes.ts'
import type { ServiceStack } from './service.ts'

export type RoutesProps = StackProps & { config: Config; service: ServiceStack; registry: Registry }

/**
 * The ways from an address to a function, and the stage that callers reach. Apart from the functions, because a stack holds 500
 * resources, and a path takes two.
 */
export class RoutesStack extends Stack {
  constructor(scope: Construct, id: string, { config, service, registry, ...props }: RoutesProps) {
    super(scope, id, props)
    const api = importApi(this, service.api)
    const handlers = new Map(service.functions.map(({ plan, live }) => [plan.name, live]))
    const methods = addRoutes(api, planRoutes(registry.requestFunctions), handlers, {
      streaming: config.streaming,
      keyed: config.edge,
    })
    const answers = addGatewayErrors(this, api, service.baseUrl)
    const stage = addStage(this, api, config, [...methods, ...answers])
    if (config.waf && !config.edge) guard(this, stage, config.wafRequestsPerAddress)
    if (service.edgeKeys !== undefined) letIn(this, api, stage, service.edgeKeys)
    // Where there is an edge, the domain is the edge’s.
    if (config.domainName !== undefined && !config.edge) mapDomain(this, config.domainName, api, stage)
  }
}
