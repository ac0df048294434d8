export { ABUSE_STATUSES, AbuseReportEntity, abuseReportsBy, SentAbuseReportEntity } from './entity.ts'
export { reportAbuse } from './report.ts'
export { abuseLists, abuseSources, resolveAbuse } from './resolve.ts'
export {
  AbuseReportSchema,
  ModeratedAbuseReportSchema,
  presentModeratedReport,
  ReportAbuse,
  ResolveAbuse,
} from './schemas.ts'
