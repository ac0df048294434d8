import type { Context } from '#infra/config.ts'
import { settleRegion } from '../region.ts'
import { readStage } from '../stage.ts'
import { connectAccount } from './account.ts'
import { checkAccount } from './checks.ts'
import type { Finding } from './finding.ts'

/** Writes the findings as a table: what was found, and below it the command that fixes it. */
export const asTable = (findings: readonly Finding[]): string =>
  findings.map(({ level, what, fix }) => `${level.padEnd(8)} ${what}\n${' '.repeat(9)}${fix}`).join('\n')

/**
 * Checks the account for a stage and prints what it finds.
 * @returns false if something stands in the way of a deployment
 */
export async function preflight(given: Context): Promise<boolean> {
  const region = await settleRegion()
  const config = readStage(given)
  const account = await connectAccount(region)
  const findings = await checkAccount(config, account)
  console.log(`Preflight of ${config.prefix}-${config.stage} in account ${account.id}, ${region}`)
  console.log(findings.length === 0 ? 'ok       Nothing stands in the way.' : asTable(findings))
  return findings.every(({ level }) => level !== 'error')
}
