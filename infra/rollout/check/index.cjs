/**
 * Called by CodeDeploy before a function's new version gets any traffic: invokes that version once and says whether it may. It
 * proves that the version loads, finds its settings and answers; what it does under load is for the alarms to tell.
 *
 * Plain JavaScript on the SDK that Lambda's Node.js brings along, so that it is deployed as it stands.
 */

/** Where a streamed answer's head ends and its body begins. */
const HEAD_END = '\0'.repeat(8)

/** Time to report in; CodeDeploy would wait an hour for a check that never does. */
const REPORT_MS = 10_000

/**
 * A request for a path that nobody has, and at the same time an empty batch: of no effect in a function that answers requests, and
 * in one that reads a queue or the stream. The sweeps do their minute's work once more, which they are made for.
 */
const EVENT = {
  httpMethod: 'GET',
  path: '/deployment-check',
  resource: '/{proxy+}',
  headers: { accept: 'application/json' },
  multiValueHeaders: { accept: ['application/json'] },
  queryStringParameters: null,
  multiValueQueryStringParameters: null,
  pathParameters: null,
  stageVariables: null,
  body: null,
  isBase64Encoded: false,
  requestContext: {
    requestId: 'deployment-check',
    httpMethod: 'GET',
    path: '/deployment-check',
    identity: { sourceIp: '127.0.0.1' },
  },
  Records: [],
}

/**
 * Why an answer to the check's event is none of a version that works; undefined if it is.
 *
 * @param {{ functionError?: string, payload: string }} answer as Lambda gives it, the payload as text
 */
function fault({ functionError, payload }) {
  if (functionError !== undefined) return `${functionError}: ${payload.slice(0, 500)}`
  const head = payload.split(HEAD_END)[0]
  const { statusCode, batchItemFailures = [] } = JSON.parse(head === '' ? 'null' : head) ?? {}
  if (statusCode >= 500) return `answered ${statusCode}: ${payload.slice(0, 500)}`
  return batchItemFailures.length === 0 ? undefined : 'failed an empty batch'
}

/**
 * @param {{ DeploymentId: string, LifecycleEventHookExecutionId: string }} event
 * @param {object} aws what `ofLambda` makes
 * @param {number} withinMs how long it may take; what has not answered by then is refused
 */
async function check({ DeploymentId, LifecycleEventHookExecutionId }, aws, withinMs) {
  const inspect = async () => {
    const versions = await aws.versions(DeploymentId)
    if (versions.length === 0) return ['The deployment names no function.']
    const faults = await Promise.all(
      versions.map(async ({ name, version }) => {
        const found = fault(await aws.invoke(name, version, JSON.stringify(EVENT)))
        return found === undefined ? [] : [`${name}:${version} ${found}`]
      }),
    )
    return faults.flat()
  }
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(['The new version did not answer in time.']), withinMs)
  })
  const faults = await Promise.race([inspect().catch((error) => [String(error)]), late])
  clearTimeout(timer)
  const status = faults.length === 0 ? 'Succeeded' : 'Failed'
  const level = faults.length === 0 ? 'info' : 'error'
  console.log(JSON.stringify({ level, message: 'deployment check', deployment_id: DeploymentId, status, faults }))
  await aws.report(DeploymentId, LifecycleEventHookExecutionId, status)
}

/** What the check asks of AWS, by the SDK's clients. */
function ofLambda() {
  const codedeploy = require('@aws-sdk/client-codedeploy')
  const lambda = require('@aws-sdk/client-lambda')
  const deployments = new codedeploy.CodeDeployClient({})
  const functions = new lambda.LambdaClient({})
  return {
    /** The revision that CloudFormation made says which versions are to get the traffic. */
    async versions(deploymentId) {
      const { deploymentInfo } = await deployments.send(new codedeploy.GetDeploymentCommand({ deploymentId }))
      const { applicationName, revision } = deploymentInfo
      const found = await deployments.send(new codedeploy.GetApplicationRevisionCommand({ applicationName, revision }))
      return JSON.parse(found.revision.string.content)
        .Resources.flatMap(Object.values)
        .map(({ Properties }) => ({
          name: Properties.Name,
          version: Properties.TargetVersion,
        }))
    },
    async invoke(FunctionName, Qualifier, Payload) {
      const answer = await functions.send(new lambda.InvokeCommand({ FunctionName, Qualifier, Payload }))
      return { functionError: answer.FunctionError, payload: answer.Payload.transformToString() }
    },
    async report(deploymentId, lifecycleEventHookExecutionId, status) {
      const input = { deploymentId, lifecycleEventHookExecutionId, status }
      await deployments.send(new codedeploy.PutLifecycleEventHookExecutionStatusCommand(input))
    },
  }
}

module.exports = {
  EVENT,
  check,
  fault,
  handler: (event, context) => check(event, ofLambda(), context.getRemainingTimeInMillis() - REPORT_MS),
}
