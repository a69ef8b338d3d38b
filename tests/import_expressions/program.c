#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct S{int a; double b; char c[20];};
static __thread int tls1; int glob[10]; static long counter;
int vla(int n){ int a[n]; for(int i=0;i<n;i++)a[i]=i*n+tls1; return a[n/2]+glob[n&7]; }
static int helper(struct S s, int k){ int t = s.a*k; double d=s.b+k; counter+=t; return t+(int)d; }
int work(int x,int y,float f){ struct S s={x,f,{0}}; int m = x<y?x:y; unsigned u=x; unsigned long long z=u*3ull; int q=x/7; int r=y%5; int sh=x>>3; struct S t={s.a+1,s.b*2,{1}}; 
 printf("%d %llu %d %d %d\n",m,z,q,r,sh); return helper(s,m)+helper(t,y); }
int main(int argc,char**argv){ char *p=argv[0]; size_t l=strlen(p); int *ip=&argc; short sx=argc*2; for(size_t i=0;i<l;i++){ unsigned char c=p[i]; if(c=='/') counter++; sx+=c; } printf("%ld %d\n",counter,*ip); return work(argc,sx,l)+vla(argc); }
