type Environment = Record<string, string | undefined>

/** Returns the region that functions run in. */
export const regionOf = (environment: Environment): string => environment.AWS_REGION ?? 'us-east-1'

/** Returns the DNS suffix of the region's partition. China's regions have their own. */
export const suffixOf = (region: string): string => (region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com')

/**
 * Returns the address below which a bucket's objects are. Emulators expect the bucket in the path, AWS in the host name
 * (path style is being phased out there).
 * @param environment AWS_REGION, and AWS_ENDPOINT_URL_S3 for emulators
 */
export const bucketAddress = (name: string, environment: Environment): string => {
  const endpoint = environment.AWS_ENDPOINT_URL_S3 ?? environment.AWS_ENDPOINT_URL
  const region = regionOf(environment)
  return endpoint ? `${endpoint}/${name}` : `https://${name}.s3.${region}.${suffixOf(region)}`
}

/**
 * Returns the address below which clients reach a bucket's objects by signed addresses.
 * @param environment as for {@link bucketAddress}, and OBJECTS_URL if the bucket is behind another address for clients
 */
export const signedBucketAddress = (name: string, environment: Environment): string =>
  environment.OBJECTS_URL ? `${environment.OBJECTS_URL}/${name}` : bucketAddress(name, environment)
