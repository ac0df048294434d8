/**
 * Does what a client does, over the platform's address, and logs whether it worked. It uses nothing of the platform's code, so that it
 * sees what clients see.
 *
 * It is plain JavaScript and uses the SDK of Lambda's Node.js runtime, so it needs no build.
 */

/** Seconds that the run of the journey's app may take. */
const WAIT = 20

/** Sends one request. A redirect, an empty answer or anything that isn't JSON counts as a failure. */
async function send(fetch, base, { method = 'GET', path, expected, headers, body, timeoutMs = 10_000 }) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...headers },
    body: body && JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await response.text()
  if (response.status !== expected) throw new Error(`${response.status} instead of ${expected}: ${text.slice(0, 300)}`)
  return JSON.parse(text)
}

/** Steps that need no credentials: a served document, and a request that the API refuses in its own words. */
async function anonymous(step, call) {
  await step('document', () => call({ path: '/openapi.json', expected: 200 }))
  await step('refusal', async () => {
    const { error } = await call({ path: '/api/v1/me', expected: 401 })
    if (!/^req_/.test(error?.request_id)) throw new Error('the refusal has no request_id')
  })
}

/** A whole run of the operator's app in its sandbox: credentials, table, stream, bus, queue, agent, answer. */
async function wholeRun(step, call, { app_id, developer_key }) {
  const { access_token } = await step('token', () =>
    call({
      method: 'POST',
      path: `/api/v1/dev/apps/${app_id}/sandbox-token`,
      expected: 200,
      headers: { 'x-developer-key': developer_key },
    }),
  )
  await step('run', async () => {
    const run = await call({
      method: 'POST',
      path: `/api/v1/runs?wait=${WAIT}`,
      expected: 201,
      headers: { authorization: `Bearer ${access_token}` },
      body: { input: { journey: true } },
      timeoutMs: (WAIT + 10) * 1_000,
    })
    if (run.status !== 'succeeded') throw new Error(`the run ${run.id} is ${run.status} after ${WAIT} s`)
  })
}

/**
 * Travels from step to step until one fails. Later steps would only repeat the failure.
 *
 * @param {{ fetch: typeof fetch, base: string, app?: { app_id: string, developer_key: string } }} options
 * @returns {Promise<{ steps: { step: string, ms: number }[], failed?: string, error?: string }>}
 */
async function travel({ fetch, base, app }) {
  const steps = []
  let current = ''
  const step = async (name, act) => {
    current = name
    const begun = performance.now()
    const result = await act()
    steps.push({ step: name, ms: Math.round(performance.now() - begun) })
    return result
  }
  const call = (request) => send(fetch, base, request)
  try {
    await anonymous(step, call)
    if (app?.app_id && app.developer_key) await wholeRun(step, call, app)
    return { steps }
  } catch (error) {
    return { steps, failed: current, error: `${error.name}: ${error.message}` }
  }
}

/** Formats the result as a line of the log. */
const lineOf = ({ steps, failed, error }) =>
  JSON.stringify({
    level: failed === undefined ? 'info' : 'error',
    message: 'journey',
    steps,
    ...(failed !== undefined && { failed, error }),
  })

/** Reads the app whose run ends the journey, if the stage has a secret for it. The values are empty until the operator sets them. */
async function readApp(SecretId) {
  if (!SecretId) return undefined
  const { GetSecretValueCommand, SecretsManagerClient } = require('@aws-sdk/client-secrets-manager')
  const { SecretString } = await new SecretsManagerClient({}).send(new GetSecretValueCommand({ SecretId }))
  return JSON.parse(SecretString)
}

/**
 * Travels, and logs the result.
 *
 * @throws if a step failed: the alarm watches the function’s errors, which Lambda counts without charge
 */
async function journey({
  env = process.env,
  fetch = globalThis.fetch,
  write = (line) => process.stdout.write(line),
} = {}) {
  const result = await readApp(env.APP_SECRET_ARN).then(
    (app) => travel({ fetch, base: env.BASE_URL, app }),
    (error) => ({ steps: [], failed: 'secret', error: `${error.name}: ${error.message}` }),
  )
  write(`${lineOf(result)}\n`)
  if (result.failed !== undefined) throw new Error(`the journey failed at: ${result.failed}`)
}

module.exports = { journey, travel, lineOf, handler: () => journey() }
