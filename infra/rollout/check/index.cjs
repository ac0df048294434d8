/**
 * Invokes a function's new version before CodeDeploy gives it traffic, and reports success or failure. The check shows that the version
 * loads, finds its settings and answers. The alarms watch how it behaves under load.
 *
 * It is plain JavaScript and uses the SDK of Lambda's Node.js runtime, so it needs no build.
 */

/** Separator between a streamed answer's head and its body. */
const HEAD_END = '\0'.repeat(8)

/** Time reserved for the report. CodeDeploy would wait an hour for a check that doesn't report. */
const REPORT_MS = 10_000

/**
 * Both a request for an unknown path and an empty batch. It has no effect in functions that serve requests and in those that read a
 * queue or the stream. Scheduled functions do an extra round, which is harmless.
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
 * Returns the reason why the answer to the check's event shows a broken version, or undefined if the version works.
 *
 * @param {{ functionError?: string, payload: string }} answer Lambda's answer, with the payload as text
 */
function fault({ functionError, payload }) {
  if (functionError !== undefined) return `${functionError}: ${payload.slice(0, 500)}`
  const head = payload.split(HEAD_END)[0]
  const { statusCode, batchItemFailures = [] } = JSON.parse(head === '' ? 'null' : head) ?? {}
  if (statusCode >= 500) return `answered ${statusCode}: ${payload.slice(0, 500)}`
  return batchItemFailures.length === 0 ? undefined : 'failed an empty batch'
}

/** Pause between attempts to invoke a version while the account has no execution free. */
const RETRY_MS = 5_000

/** Invokes a version. A throttled invocation says nothing about the version, so it is repeated until it gets through. */
async function invoke(aws, name, version) {
  for (;;) {
    try {
      return await aws.invoke(name, version, JSON.stringify(EVENT))
    } catch (error) {
      if (error.name !== 'TooManyRequestsException' && error.name !== 'ThrottlingException') throw error
      await aws.wait(RETRY_MS)
    }
  }
}

/**
 * @param {{ DeploymentId: string, LifecycleEventHookExecutionId: string }} event
 * @param {object} aws clients created by `ofLambda`
 * @param {number} withinMs time limit; versions that haven't answered by then are refused
 */
async function check({ DeploymentId, LifecycleEventHookExecutionId }, aws, withinMs) {
  const inspect = async () => {
    const versions = await aws.versions(DeploymentId)
    if (versions.length === 0) return ['The deployment names no function.']
    const faults = await Promise.all(
      versions.map(async ({ name, version }) => {
        const found = fault(await invoke(aws, name, version))
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

/** Calls of AWS that the check needs, through the SDK's clients. */
function ofLambda() {
  const codedeploy = require('@aws-sdk/client-codedeploy')
  const lambda = require('@aws-sdk/client-lambda')
  const deployments = new codedeploy.CodeDeployClient({})
  const functions = new lambda.LambdaClient({})
  return {
    /** Reads the new versions from the deployment's revision, which CloudFormation created. */
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
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
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
