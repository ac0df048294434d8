import { productionCosts, productionTotal } from '#bench/idle.ts'
import { PRICES } from '#bench/prices.ts'

const HOURS_A_MONTH = 30 * 24
/** Hours that a proof takes if CloudFormation, CodeDeploy and the restore are slow. */
const HOURS = 4
/** Requests that the probe, the journeys and the checks send. Each also costs an invocation, reads and a line in two logs. */
const REQUESTS = HOURS * 3_600
const MILLION_REQUESTS = 2 * (PRICES.million.apiGatewayRestRequests + PRICES.million.lambdaRequests)
/** Gigabytes of logs and of assets in the CDK's bucket. */
const LOGS_GB = 0.1

export interface ProofCosts {
  /** Dollars of a proof from its beginning to its end. */
  proof: number
  /** Dollars a day of a stage that a proof has left. */
  day: number
}

/** Estimates what a proof costs, from the templates and the list prices. AWS charges what exists by the hour. */
export const proofCosts = async (): Promise<ProofCosts> => {
  const month = productionTotal(await productionCosts())
  const used = (REQUESTS / 1e6) * MILLION_REQUESTS + LOGS_GB * PRICES.gigabyte.logsIn
  return { proof: (month / HOURS_A_MONTH) * HOURS + used, day: (month / HOURS_A_MONTH) * 24 }
}
