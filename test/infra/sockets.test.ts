import { describe, expect, it } from 'vitest'
import { functionsOf, plans, resources, statementsOf, synthesize } from './support.ts'

const { service } = synthesize()
const text = JSON.stringify
const ofType = (type: string) =>
  resources(service, `AWS::ApiGatewayV2::${type}`).map(([id, resource]) => ({ id, ...resource }))
const [api, ...others] = ofType('Api')

describe('live connections', () => {
  it('bring every connect, disconnect and message to one function', () => {
    expect([api?.Properties.ProtocolType, others]).toEqual(['WEBSOCKET', []])
    const [integration, ...more] = ofType('Integration')
    expect(more).toEqual([])
    expect(text(integration?.Properties.IntegrationUri)).toContain(`${functionsOf(service).get('live')?.id}Live`)
    const routes = ofType('Route').map(({ Properties }) => Properties)
    expect(routes.map(({ RouteKey }) => RouteKey).sort()).toEqual(['$connect', '$default', '$disconnect'])
    for (const { Target } of routes) expect(text(Target)).toContain(`"${integration?.id}"`)
  })

  it('have a throttle of their own, so that open pages don’t take the API’s', () => {
    const { service: set } = synthesize({ liveThrottle: '{"rate":7,"burst":9}' })
    const [[, stage] = []] = resources(set, 'AWS::ApiGatewayV2::Stage')
    expect(stage?.Properties.DefaultRouteSettings).toMatchObject({
      ThrottlingRateLimit: 7,
      ThrottlingBurstLimit: 9,
      DataTraceEnabled: false,
    })
  })

  it('are reached by one function only, which may send to them and close them, and nothing else', () => {
    for (const { name } of plans) {
      const found = statementsOf(service, name).filter(({ actions }) =>
        actions.some((action) => /^execute-api/.test(action)),
      )
      expect([name, found.length]).toEqual([name, name === 'live' ? 1 : 0])
      for (const { actions, resources: of } of found) {
        expect(actions).toEqual(['execute-api:ManageConnections'])
        expect(of.map((arn) => text(arn).match(/dev\/(\w+)\/@connections\/\*/)?.[1])).toEqual(['POST', 'DELETE'])
        for (const arn of of) expect(text(arn)).toContain(`{"Ref":"${api?.id}"}`)
      }
    }
  })

  it('are named to the pages and to the function that serves them', () => {
    const named = plans.filter(
      ({ name }) => 'SOCKETS_URL' in (functionsOf(service).get(name)?.Properties.Environment.Variables ?? {}),
    )
    expect(named.map(({ name }) => name)).toEqual(['live', 'pages'])
    expect(text(functionsOf(service).get('pages')?.Properties.Environment.Variables.SOCKETS_URL)).toMatch(
      /wss:\/\/.*Sockets.*\/dev"/,
    )
  })

  it('can be left out, for emulators that have none', () => {
    const { service: without } = synthesize({ liveUpdates: false })
    for (const type of ['Api', 'Route', 'Stage', 'Integration'])
      expect(resources(without, `AWS::ApiGatewayV2::${type}`)).toEqual([])
    expect(text(without.toJSON())).not.toMatch(/SOCKETS_URL|execute-api:ManageConnections/)
  })
})
