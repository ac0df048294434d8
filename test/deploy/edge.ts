import { CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation'
import { requestTo, signedRequests } from '#shared/adapters/signed-requests.ts'
import { VIEWER_HEADER } from '#shared/http/exchange.ts'
import type { Emulator } from './emulator.ts'

/** Reads from the deployed distribution what CloudFront sends with each request, and adds the client's address as its function does. */
export const headersOfEdge = async (
  { endpoint, env }: Pick<Emulator, 'endpoint' | 'env'>,
  stackName: string,
): Promise<Record<string, string>> => {
  const { send } = signedRequests('cloudfront', env, 30_000)
  const id = await distributionOf(stackName)
  const { status, body } = await send(
    requestTo(new URL(`/2020-05-31/distribution/${id}/config`, endpoint), { method: 'GET', headers: {}, body: '' }),
  )
  const config = Buffer.from(body).toString()
  if (status !== 200) throw new Error(`The configuration of the distribution ${id}: ${status} ${config}`)
  const [, key] = /<HeaderName>x-api-key<\/HeaderName>\s*<HeaderValue>([^<]+)</.exec(config) ?? []
  if (key === undefined) throw new Error(`The distribution sends no key: ${config}`)
  return { 'x-api-key': unescaped(key), [VIEWER_HEADER]: '127.0.0.1' }
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'", '#34': '"' }

/** Reads text of XML. The emulator's generated secrets have punctuation, whatever the template says. */
const unescaped = (text: string): string =>
  text.replaceAll(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)

const distributionOf = async (StackName: string): Promise<string> => {
  const client = new CloudFormationClient({})
  let NextToken: string | undefined
  do {
    const page = await client.send(new ListStackResourcesCommand({ StackName, ...(NextToken && { NextToken }) }))
    const found = page.StackResourceSummaries?.find(
      ({ ResourceType }) => ResourceType === 'AWS::CloudFront::Distribution',
    )
    if (found?.PhysicalResourceId) return found.PhysicalResourceId
    NextToken = page.NextToken
  } while (NextToken)
  throw new Error(`${StackName} has no distribution`)
}
