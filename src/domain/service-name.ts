/** The name of the service, on pages and in mails. */
export const serviceName = 'Workspace'
