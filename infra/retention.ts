import { RemovalPolicy } from 'aws-cdk-lib'
import type { Config } from './config.ts'

/**
 * Returns the removal policy of data and logs. With `retainData`, they outlive their stack. Resources of a deployment that failed are empty, so they
 * are deleted with it, and a stack whose first deployment failed can be deleted.
 */
export const retention = ({ retainData }: Pick<Config, 'retainData'>): RemovalPolicy =>
  retainData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY
