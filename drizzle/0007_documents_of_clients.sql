CREATE TABLE "oauth_documents" (
	"client_id" text NOT NULL,
	"kind" text NOT NULL,
	"url" text NOT NULL,
	"content" text NOT NULL,
	"fetched_at" timestamp (3) with time zone NOT NULL,
	"gone_since" timestamp (3) with time zone,
	CONSTRAINT "oauth_documents_client_id_kind_pk" PRIMARY KEY("client_id","kind")
);
