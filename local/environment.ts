import { LOCAL_ACCESS_KEY, LOCAL_SECRET_KEY } from './aws/s3/sigv4.ts'
import { TOKEN_PREFIX } from './aws/server.ts'
import type { FunctionModel } from './template/model.ts'
import { REGION } from './template/physical.ts'

/** Loopback addresses of the AWS services. */
export interface Endpoints {
  dynamodb: string
  sqs: string
  eventbridge: string
  secretsManager: string
  cloudwatch: string
  s3: string
  ses: string
  connections: string
}

/** Variables that the shell may not override: names of resources, AWS's own, and the address that the platform has parsed. */
const FIXED = /^(AWS_.*|QUEUE_URL_.*|.*_ARN|(TABLE|BUCKET|BUS)_NAME|STAGE|BASE_URL|SOCKETS_URL)$/

/** Options for building a function's environment. */
export interface EnvironmentOptions {
  endpoints: Endpoints
  baseUrl: string
  /** Address below which clients reach objects. */
  objectsUrl: string
  /** The API's address in the template. In every variable, it is replaced by the local address. */
  deployedUrl: string | undefined
  /** Addresses of live connections: in the template, and of this run. */
  sockets: { deployed: string; local: string } | undefined
  /** The shell's variables. They override settings that the template declares on a function. */
  shell: Record<string, string | undefined>
  /** Variables set on every function, whatever the template declares. */
  overrides: Record<string, string>
}

/**
 * Builds a function's whole environment: the template's variables, Lambda's own, and the addresses of AWS. Nothing else
 * of the process's environment reaches the function. A variable missing in the template is therefore missing here too.
 */
export const functionEnvironment = (model: FunctionModel, options: EnvironmentOptions): Record<string, string> => {
  const { endpoints, baseUrl, objectsUrl, deployedUrl, sockets, shell, overrides } = options
  const given = Object.entries(model.environment).map(([name, value]) => [
    name,
    deployedUrl ? value.replaceAll(deployedUrl, baseUrl) : value,
  ])
  const settings = Object.fromEntries(
    Object.keys(model.environment).flatMap((name) => {
      const value = FIXED.test(name) ? undefined : shell[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
  return {
    ...Object.fromEntries(given),
    ...('BASE_URL' in model.environment && { BASE_URL: baseUrl }),
    ...(sockets && model.environment.SOCKETS_URL === sockets.deployed && { SOCKETS_URL: sockets.local }),
    ...settings,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_ACCESS_KEY_ID: LOCAL_ACCESS_KEY,
    AWS_SECRET_ACCESS_KEY: LOCAL_SECRET_KEY,
    AWS_SESSION_TOKEN: TOKEN_PREFIX + model.name,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_EVENTBRIDGE: endpoints.eventbridge,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsManager,
    AWS_ENDPOINT_URL_CLOUDWATCH: endpoints.cloudwatch,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    OBJECTS_URL: objectsUrl,
    AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI: endpoints.connections,
    AWS_ENDPOINT_URL_SESV2: endpoints.ses,
    AWS_LAMBDA_FUNCTION_NAME: model.functionName,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(model.memoryMb),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${model.functionName}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    LAMBDA_TASK_ROOT: model.directory,
    _HANDLER: model.handler,
    TZ: ':UTC',
    ...overrides,
  }
}
